use std::path::Path;

use halfopen_contract::store::{Place, StoreError};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, TlsProvider, parse_pem};

use crate::options::EtcdTls;

/// The TLS configuration of the HTTP client, from PEM files.
pub(super) fn config(tls: &EtcdTls, place: &Place) -> Result<TlsConfig, StoreError> {
    let mut config = TlsConfig::builder().provider(TlsProvider::Rustls);
    if let Some(path) = &tls.authorities {
        config = config.root_certs(RootCerts::new_with_certs(&certificates(path, place)?));
    }
    if let Some((certificate, key_file)) = &tls.identity {
        let key = PrivateKey::from_pem(&read(key_file, place)?);
        let key = key.map_err(|_| place.denied(format!("{} holds no private key in PEM", key_file.display())))?;
        let chain = certificates(certificate, place)?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(config.build())
}

fn certificates(path: &Path, place: &Place) -> Result<Vec<Certificate<'static>>, StoreError> {
    let content = read(path, place)?;
    let certificate = |item| if let Ok(PemItem::Certificate(found)) = item { Some(found) } else { None };
    let certificates: Vec<_> = parse_pem(&content).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(place.denied(format!("{} holds no certificate in PEM", path.display())));
    }
    Ok(certificates)
}

fn read(path: &Path, place: &Place) -> Result<Vec<u8>, StoreError> {
    std::fs::read(path).map_err(|error| place.denied(format!("cannot read {} ({error})", path.display())))
}
