pub(crate) mod damage;
pub(crate) mod hostile_sip;
