use halfopen_contract::store::StoreError;
use halfopen_contract::time::Reading;
use halfopen_contract::types::{Admission, Permit, Probe};

use crate::local_admission::Admitted;

/// The terms of a permit.
#[derive(Clone, Debug)]
pub(super) struct PermitTerms {
    pub permit: Permit,
    /// The time of the request that it answers.
    pub request_time: Reading,
    /// The lengths, in ms from then.
    pub expires_in: Option<u64>,
    pub fresh_for: u64,
    pub percent: u32,
    pub slower_than: Option<u64>,
    /// The generation that its success is counted in; none where it is reported at once.
    pub generation: Option<u32>,
    pub unrecorded: Option<Box<StoreError>>,
}

impl PermitTerms {
    /// Those of an admission.
    pub fn admitted(admission: &Admission, generation: Option<u32>, request_time: Reading) -> Self {
        PermitTerms {
            fresh_for: admission.fresh_for,
            percent: admission.percent,
            slower_than: admission.slower_than,
            generation,
            ..PermitTerms::plain(admission.permit, request_time)
        }
    }

    /// Those of a probe.
    pub fn probe(probe: &Probe, request_time: Reading) -> Self {
        PermitTerms {
            expires_in: Some(probe.expires_in),
            slower_than: probe.slower_than,
            ..PermitTerms::plain(probe.permit, request_time)
        }
    }

    /// Those of a call that is admitted without the store.
    pub fn unrecorded(error: StoreError, request_time: Reading) -> Self {
        // No breaker ever has this epoch, so that the permit is stale wherever it is reported.
        let permit = Permit { epoch: u64::MAX, lease: None };
        PermitTerms { unrecorded: Some(Box::new(error)), ..PermitTerms::plain(permit, request_time) }
    }

    fn plain(permit: Permit, request_time: Reading) -> Self {
        PermitTerms {
            permit,
            request_time,
            expires_in: None,
            fresh_for: 0,
            percent: 100,
            slower_than: None,
            generation: None,
            unrecorded: None,
        }
    }

    /// The admission of a call without a lease; none for others.
    pub fn without_lease(&self) -> Option<Admitted> {
        let PermitTerms { permit, generation, slower_than, .. } = *self;
        let recorded = permit.lease.is_none() && self.unrecorded.is_none();
        recorded.then_some(Admitted { epoch: permit.epoch, generation, slower_than })
    }
}
