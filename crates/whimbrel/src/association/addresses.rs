//! Our addresses in an association. A policy does all this by itself; these are for programs that know better.

use core::net::{IpAddr, SocketAddr};

use whimbrel_proto::{AddressChange, AddressChangeError, Command, Mobility};

use super::Association;

impl Association {
    /// Whether our addresses can change while the association lives, and if not, why.
    pub fn mobility(&self) -> Mobility {
        self.mailbox().changes.mobility()
    }

    /// Adds a local address to the association: tells the peer, and waits for its answer (RFC 5061). The address carries data
    /// once a heartbeat from it has been answered.
    ///
    /// It must be one of [`Endpoint::local_addresses`](crate::Endpoint::local_addresses).
    ///
    /// ```no_run
    /// # async fn example(association: whimbrel::Association) -> Result<(), Box<dyn std::error::Error>> {
    /// // The train leaves the station: from Wi-Fi to cellular.
    /// association.add_address("10.64.0.2".parse()?).await?;
    /// association.ask_primary("10.64.0.2".parse()?).await?;
    /// association.delete_address("192.0.2.7".parse()?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Dropping the future does not take the request back; this is so of all requests to the peer here.
    ///
    /// # Errors
    /// [`AddressChangeError`], for instance that the peer does not know about moving ([`Association::mobility`]).
    pub async fn add_address(&self, address: IpAddr) -> Result<(), AddressChangeError> {
        let ours = self.0.client.addresses();
        let own = ours.iter().find(|own| own.ip() == address).or_else(|| ours.first());
        let port = own.map_or(0, SocketAddr::port);
        self.change_one(AddressChange::Add(SocketAddr::new(address, port))).await
    }

    /// Takes a local address out of the association, never the last one.
    ///
    /// # Errors
    /// [`AddressChangeError`].
    pub async fn delete_address(&self, address: IpAddr) -> Result<(), AddressChangeError> {
        self.change_one(AddressChange::Delete(address)).await
    }

    /// Asks the peer to send to this address of ours. It does so at once, or as soon as it knows that the address leads to us.
    ///
    /// # Errors
    /// [`AddressChangeError`].
    pub async fn ask_primary(&self, address: IpAddr) -> Result<(), AddressChangeError> {
        self.change_one(AddressChange::SetPrimary(address)).await
    }

    /// Several changes in one go, in this order, and the answer to each. After a hard handover, when the old address is lost
    /// already: add the new one, delete the old one, make the new one primary.
    pub async fn change_addresses(&self, changes: Vec<AddressChange>) -> Vec<Result<(), AddressChangeError>> {
        let association = self.id();
        let expected = self.mailbox().changes.expect(&changes, || {
            self.inbox().command(Command::ChangeAddresses { association, changes: changes.clone() });
        });
        let mut answers = Vec::with_capacity(expected.len());
        for answer in expected {
            answers.push(answer.await.unwrap_or(Err(AddressChangeError::Closed)));
        }
        answers
    }

    async fn change_one(&self, change: AddressChange) -> Result<(), AddressChangeError> {
        self.change_addresses(vec![change]).await.pop().unwrap_or(Err(AddressChangeError::Closed))
    }
}
