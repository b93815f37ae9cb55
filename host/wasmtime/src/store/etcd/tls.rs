//! TLS from files in PEM.

use std::path::Path;

use ureq::tls::{ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, TlsProvider, parse_pem};

use super::super::StoreError;
use super::options::EtcdTls;
use super::place::Place;

pub(super) fn config(tls: &EtcdTls, place: &Place) -> Result<TlsConfig, StoreError> {
    let mut config = TlsConfig::builder().provider(TlsProvider::Rustls);
    if let Some(path) = &tls.authorities {
        config = config.root_certs(RootCerts::new_with_certs(&certificates(path, place)?));
    }
    if let Some(identity) = &tls.identity {
        let key = PrivateKey::from_pem(&read(&identity.key, place)?);
        let key = key.map_err(|_| place.denied(format!("{} holds no private key in PEM", identity.key.display())))?;
        let chain = certificates(&identity.certificate, place)?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(config.build())
}

fn certificates(path: &Path, place: &Place) -> Result<Vec<ureq::tls::Certificate<'static>>, StoreError> {
    let content = read(path, place)?;
    let certificates: Vec<_> = parse_pem(&content)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(place.denied(format!("{} holds no certificate in PEM", path.display())));
    }
    Ok(certificates)
}

fn read(path: &Path, place: &Place) -> Result<Vec<u8>, StoreError> {
    std::fs::read(path).map_err(|error| place.denied(format!("cannot read {} ({error})", path.display())))
}
