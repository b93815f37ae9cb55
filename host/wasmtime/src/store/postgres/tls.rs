//! Which server is believed to be the right one.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What of a server's certificate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verify {
    /// Nothing: nobody can listen, but anybody can answer.
    Nothing,
    /// That a trusted authority signed it, for whatever host.
    Chain,
    /// That, and that it is for this host.
    Full,
}

/// Who is trusted to sign certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// Whom the operating system trusts.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

/// How TLS is spoken.
#[derive(Clone, Debug)]
pub(super) struct Tls {
    pub verify: Verify,
    pub roots: Roots,
    /// The client's own certificate and its key: PEM files.
    pub client: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// What makes TLS connections, or what is wrong.
    pub fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match self.verify {
            Verify::Nothing => Arc::new(Lenient { chain: None, provider: provider.clone() }),
            Verify::Chain => {
                Arc::new(Lenient { chain: Some(self.web_pki(provider.clone())?), provider: provider.clone() })
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
                let key = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| format!("`sslkey` {} cannot be used: {error}", key.display()))?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| format!("`sslcert` and `sslkey` cannot be used: {error}"))?
            }
        };
        // What `sslnegotiation=direct` goes by.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeRustlsConnect::new(config))
    }

    fn web_pki(&self, provider: Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, String> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            Roots::System => {
                let found = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(found.certs);
                if roots.is_empty() {
                    return Err("the system trusts no authority; name one with `sslrootcert`".to_owned());
                }
            }
            Roots::File(path) => {
                for certificate in certificates(path, "sslrootcert")? {
                    roots
                        .add(certificate)
                        .map_err(|error| format!("`sslrootcert` {} cannot be used: {error}", path.display()))?;
                }
            }
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| error.to_string())
    }
}

fn certificates(path: &PathBuf, key: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let cannot = |why: String| format!("`{key}` {} cannot be used: {why}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(|error| cannot(error.to_string()))?;
    let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| cannot(error.to_string()))?;
    if found.is_empty() { Err(cannot("it holds no certificate".to_owned())) } else { Ok(found) }
}

/// Checks less than the name, as `sslmode` below `verify-full` asks for.
#[derive(Debug)]
struct Lenient {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
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
            // The name is looked at last, so the rest is right.
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
