use std::sync::mpsc;

use super::signals::Arrived;
use super::supervisor::Event;
use super::*;

#[test]
fn a_signal_interrupts_work_after_a_moment_of_grace() {
    let supervisor = Supervisor::new().unwrap();
    assert!(matches!(supervisor.during(|| 7), Interruptible::Done(7)));
    let send = |supervisor: &Supervisor, signal| {
        supervisor.sender.send(Event::Signal(Arrived { signal, from_terminal: false })).unwrap();
    };
    let (end, ended) = mpsc::channel::<()>();
    send(&supervisor, libc::SIGTERM);
    let cut_short = supervisor.during(move || ended.recv().is_ok());
    let is_cut_short = matches!(cut_short, Interruptible::Interrupted { signal: libc::SIGTERM, result: None });
    assert!(is_cut_short, "{cut_short:?}");
    drop(end);

    let supervisor = Supervisor::new().unwrap();
    send(&supervisor, libc::SIGINT);
    let done = supervisor.during(|| 7);
    let is_done = matches!(done, Interruptible::Interrupted { signal: libc::SIGINT, result: Some(7) });
    assert!(is_done, "{done:?}");
}
