use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The checks of the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verify {
    /// None: the connection is encrypted, but to any server.
    Nothing,
    /// A trusted authority signed it, for any host.
    Chain,
    /// A trusted authority signed it for this host.
    Full,
}

/// The TLS options of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    pub(super) verify: Verify,
    /// A PEM file of the trusted authorities; none trusts those of the operating system.
    pub(super) roots: Option<PathBuf>,
    /// The client's own certificate and its key: PEM files.
    pub(super) client: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// The driver's connector, or the option that cannot be used.
    pub fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match self.verify {
            Verify::Nothing => Arc::new(LenientVerifier { chain: None, provider: provider.clone() }),
            Verify::Chain => {
                Arc::new(LenientVerifier { chain: Some(self.web_pki(provider.clone())?), provider: provider.clone() })
            }
            Verify::Full => self.web_pki(provider.clone())?,
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &self.client {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates(certificate, "sslcert")?;
                let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable("sslkey", key, error))?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| format!("`sslcert` and `sslkey` cannot be used: {error}"))?
            }
        };
        // `sslnegotiation=direct` needs it.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }

    fn web_pki(&self, provider: Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, String> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    return Err("the system trusts no authority; name one with `sslrootcert`".to_owned());
                }
            }
            Some(path) => {
                for certificate in certificates(path, "sslrootcert")? {
                    roots.add(certificate).map_err(|error| unusable("sslrootcert", path, error))?;
                }
            }
        }
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.build().map_err(|error| error.to_string())
    }
}

fn certificates(path: &Path, key: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match found.map_err(|error| unusable(key, path, error))? {
        found if found.is_empty() => Err(unusable(key, path, "it holds no certificate")),
        found => Ok(found),
    }
}

fn unusable(key: &str, path: &Path, why: impl std::fmt::Display) -> String {
    format!("`{key}` {} cannot be used: {why}", path.display())
}

/// Checks less than the host's name, for an `sslmode` below `verify-full`.
#[derive(Debug)]
struct LenientVerifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is checked last, so the rest is right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
