//! What a receiver accepts, and what it does with it.

/// What happens when something of that name is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Existing {
    /// The new file is refused.
    #[default]
    Refuse,
    /// The new file replaces it.
    Overwrite,
    /// The new file gets `.1`, `.2`, … appended.
    Rename,
}

/// What becomes of names with a component that begins with a dot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Hidden {
    /// They are not accepted: a sender would not write documents, but settings that programs obey.
    #[default]
    Refuse,
    /// They are names like others.
    Take,
}

/// What a store accepts, and what it does with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rules {
    /// For names that are taken.
    pub(crate) existing: Existing,
    /// For hidden names.
    pub(crate) hidden: Hidden,
    /// Whether files are on the disk before they are confirmed.
    pub(crate) sync: bool,
    /// Bytes that unfinished files may take together; nine tenths of the space there is, if not given.
    pub(crate) partial_space: Option<u64>,
}
