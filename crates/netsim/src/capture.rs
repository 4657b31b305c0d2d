use std::io::{self, Write};

use whimbrel_machine::{Instant, IpProtocol};

use crate::LinkId;
use crate::pcapng::{Captured, Pcapng};

/// The captures of a world: files, and which link goes to which.
#[derive(Default)]
pub(crate) struct Captures {
    files: Vec<Pcapng<Box<dyn Write + Send>>>,
    /// By link: the file and the interface in it.
    taps: Vec<Option<(usize, u32)>>,
    error: Option<io::Error>,
}

impl Captures {
    /// Begins a file with one interface per link. A link is in one capture at a time: the latest.
    pub(crate) fn add(&mut self, links: &[(LinkId, String)], out: Box<dyn Write + Send>) -> io::Result<()> {
        let mut file = Pcapng::new(out, 0)?;
        for (link, name) in links {
            let interface = file.add_interface(name)?;
            if self.taps.len() <= link.index() {
                self.taps.resize(link.index() + 1, None);
            }
            self.taps[link.index()] = Some((self.files.len(), interface));
        }
        self.files.push(file);
        Ok(())
    }

    /// Whether link number `link` is captured. Free when there are no captures.
    pub(crate) fn wants(&self, link: u32) -> bool {
        self.taps.get(link as usize).is_some_and(Option::is_some)
    }

    pub(crate) fn write(&mut self, link: u32, at: Instant, protocol: IpProtocol, captured: &Captured<'_>) {
        if let Some(&Some((file, interface))) = self.taps.get(link as usize)
            && self.error.is_none()
        {
            self.error = self.files[file].write_as(interface, at, protocol, captured).err();
        }
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.files.iter_mut().try_for_each(Pcapng::flush)
    }
}
