use std::path::Path;

use halfopen_contract::store::StoreError;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, TlsProvider, parse_pem};

use crate::errors::Errors;
use crate::options::EtcdTls;

/// The TLS configuration of the HTTP client, from PEM files.
pub(super) fn config(tls: &EtcdTls, errors: &Errors) -> Result<TlsConfig, StoreError> {
    let mut config = TlsConfig::builder().provider(TlsProvider::Rustls);
    if let Some(path) = &tls.authorities {
        config = config.root_certs(RootCerts::new_with_certs(&certificates(path, errors)?));
    }
    if let Some(identity) = &tls.identity {
        let key = PrivateKey::from_pem(&read(&identity.key, errors)?);
        let key = key.map_err(|_| errors.denied(format!("{} holds no private key in PEM", identity.key.display())))?;
        let chain = certificates(&identity.certificate, errors)?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(config.build())
}

fn certificates(path: &Path, errors: &Errors) -> Result<Vec<Certificate<'static>>, StoreError> {
    let content = read(path, errors)?;
    let certificate = |item| if let Ok(PemItem::Certificate(found)) = item { Some(found) } else { None };
    let certificates: Vec<_> = parse_pem(&content).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(errors.denied(format!("{} holds no certificate in PEM", path.display())));
    }
    Ok(certificates)
}

fn read(path: &Path, errors: &Errors) -> Result<Vec<u8>, StoreError> {
    std::fs::read(path).map_err(|error| errors.denied(format!("cannot read {} ({error})", path.display())))
}
