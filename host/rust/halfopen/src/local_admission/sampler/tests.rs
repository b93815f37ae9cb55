use super::*;

#[test]
fn it_hits_with_its_percentage_and_a_seed_repeats_it() {
    for percent in [0, 1, 25, 99, 100] {
        let (one, other) = (Sampler::new(Some(7)), Sampler::new(Some(7)));
        let draws: Vec<bool> = (0..10_000).map(|_| one.hits(percent)).collect();
        assert_eq!(draws, (0..10_000).map(|_| other.hits(percent)).collect::<Vec<_>>());
        let hits = draws.iter().filter(|hit| **hit).count() as u32;
        assert!(hits.abs_diff(percent * 100) <= 150, "{hits} of 10000 at {percent} %");
    }
}
