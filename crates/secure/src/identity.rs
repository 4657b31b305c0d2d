use core::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::SigningKey;
use zeroize::Zeroizing;

use crate::PublicKey;
use crate::base32;

/// What comes before the 32 bytes of a private Ed25519 key (RFC 8410 section 7).
const PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// What begins the file of a private key.
const PREFIX: &str = "whimbrel-private-key-1 ";

/// No file of a key is longer.
const LONGEST: u64 = 1024;

/// A host's private key, by which it proves who it is.
#[derive(Clone)]
pub struct Identity {
    key: Arc<dyn SigningKey>,
    public: PublicKey,
    seed: Zeroizing<[u8; 32]>,
}

impl Identity {
    /// A new one.
    ///
    /// # Errors
    /// [`IdentityError::NoRandomness`] if the operating system gives no random numbers.
    pub fn generate() -> Result<Self, IdentityError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|_| IdentityError::NoRandomness)?;
        Ok(Self::from_seed(&seed))
    }

    /// The one whose private key is `seed`: 32 bytes that nobody else knows.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let mut pkcs8 = Zeroizing::new([0; 48]);
        pkcs8[..16].copy_from_slice(&PKCS8);
        pkcs8[16..].copy_from_slice(seed);
        let key =
            any_eddsa_type(&PrivatePkcs8KeyDer::from(&pkcs8[..])).expect("every seed is an Ed25519 key");
        let spki = key.public_key().expect("it is known with the private one");
        let public = PublicKey::from_spki(spki.as_ref()).expect("it is an Ed25519 key");
        Self { key, public, seed: Zeroizing::new(*seed) }
    }

    /// The one in the file `path`. If there is no such file one is generated and written there, for its owner's eyes only.
    ///
    /// # Errors
    /// [`IdentityError::File`] if the file cannot be read or written, [`IdentityError::Form`] if something else is in it.
    pub fn load_or_create(path: &Path) -> Result<Self, IdentityError> {
        match Self::load(path) {
            Err(IdentityError::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                let identity = Self::generate()?;
                match identity.save(path) {
                    // Another process was quicker: both have the same key then.
                    Err(IdentityError::File { error, .. })
                        if error.kind() == io::ErrorKind::AlreadyExists =>
                    {
                        Self::load(path)
                    }
                    saved => saved.map(|()| identity),
                }
            }
            loaded => loaded,
        }
    }

    /// The one in the file `path`.
    ///
    /// # Errors
    /// As [`Self::load_or_create`].
    pub fn load(path: &Path) -> Result<Self, IdentityError> {
        let failed = |error| IdentityError::File { path: path.to_owned(), error };
        let mut text = Zeroizing::new(String::new());
        let file = fs::File::open(path).map_err(failed)?;
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(failed)?) & 0o777;
            if mode & 0o077 != 0 {
                return Err(IdentityError::Open { path: path.to_owned(), mode });
            }
        }
        file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
        let bytes = text.trim_end().strip_prefix(PREFIX).and_then(base32::decode).map(Zeroizing::new);
        let seed = bytes.and_then(|bytes| <[u8; 32]>::try_from(&bytes[..]).ok()).map(Zeroizing::new);
        seed.map(|seed| Self::from_seed(&seed)).ok_or_else(|| IdentityError::Form(path.to_owned()))
    }

    /// Writes it to the new file `path`, and makes the directories that lead there.
    fn save(&self, path: &Path) -> Result<(), IdentityError> {
        let failed = |error| IdentityError::File { path: path.to_owned(), error };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(|_| IdentityError::NoRandomness)?;
        // Another process that is begun at the same time must find the whole key or none.
        let unfinished = path.with_extension(format!("{:016x}.new", u64::from_ne_bytes(name)));
        let made = self.write_new(&unfinished).and_then(|()| publish(&unfinished, path));
        let _ = fs::remove_file(&unfinished);
        made.map_err(failed)
    }

    fn write_new(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let text = Zeroizing::new(format!("{PREFIX}{}\n", base32::encode(&*self.seed)));
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all())
    }

    /// Who this is to others.
    #[must_use]
    pub const fn public_key(&self) -> PublicKey {
        self.public
    }

    pub(crate) fn signing_key(&self) -> &Arc<dyn SigningKey> {
        &self.key
    }
}

/// Gives the file its name, unless another has that already.
fn publish(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // There are file systems without links.
            if to.exists() { Err(io::ErrorKind::AlreadyExists.into()) } else { fs::rename(from, to) }
        }
        linked => linked,
    }
}

impl fmt::Debug for Identity {
    /// Does not show the private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.public).finish()
    }
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No random numbers.
    #[error("the operating system gives no random numbers")]
    NoRandomness,
    /// The file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Others than its owner may read the file, or write to it.
    #[error("{0} has mode {mode:o}, so that others know the key: run `chmod 600 {0}`, or remove it to have a new key made", .path.display())]
    Open {
        /// Which one.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// There is something else in the file.
    #[error("{}: this is not a private key of Whimbrel; move it away and a new one is made", .0.display())]
    Form(PathBuf),
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
