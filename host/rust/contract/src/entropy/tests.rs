use super::*;

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let (a, b) = (Entropy::new(Some(7)), Entropy::new(Some(7)));
    let drawn: Vec<u64> = (0..10).map(|_| a.next()).collect();
    assert_eq!(drawn, (0..10).map(|_| b.next()).collect::<Vec<_>>());
    assert_ne!(Entropy::new(Some(8)).next(), drawn[0]);
}
