//! A clock in a file, for all processes of a test.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use halfopen::Clock;

#[derive(Clone, Debug)]
pub struct FileClock {
    path: PathBuf,
    file: Arc<File>,
}

impl FileClock {
    pub fn create(path: &Path) -> FileClock {
        std::fs::write(path, 1_000_000_u64.to_ne_bytes()).unwrap();
        FileClock::open(path)
    }

    pub fn open(path: &Path) -> FileClock {
        let file = File::options().read(true).write(true).open(path).unwrap();
        FileClock { path: path.to_owned(), file: Arc::new(file) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn advance(&self, ms: u64) {
        self.file.write_all_at(&(self.now() + ms).to_ne_bytes(), 0).unwrap();
    }

    /// Moves on by a millisecond now and then while the answer lives. Nobody else may set the clock then.
    pub fn moving(&self) -> Moving {
        let stop = Arc::new(AtomicBool::new(false));
        let (clock, stopped) = (self.clone(), stop.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                clock.advance(1);
                thread::sleep(Duration::from_millis(1));
            }
        });
        Moving { stop, thread: Some(thread) }
    }
}

impl Clock for FileClock {
    fn now(&self) -> u64 {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, 0).expect("the clock is there as long as the test");
        u64::from_ne_bytes(bytes)
    }
}

pub struct Moving {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Moving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
