use super::*;
use crate::engine::Operation;

#[test]
fn lost_races_pause_ever_longer_and_end_in_time() {
    let mut race = Race::new(&Request { dependency: "payments".into(), operation: Operation::Inspect });
    for _ in 0..WITHOUT_PAUSE {
        assert_eq!(race.lost(), Some(Duration::ZERO));
    }
    for _ in 0..20 {
        race.begun = Instant::now() - Duration::from_secs(1);
        let pause = race.lost().expect("it gave up");
        assert!(pause < Duration::from_secs(5), "{pause:?}");
    }
    race.until = Instant::now();
    assert_eq!(race.lost(), None);
}
