//! The signal dispositions and the signal mask that the program was started with; its command gets the same.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

static SIGPIPE_WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Rust's runtime ignores SIGPIPE before `main` begins, so its disposition is read before the runtime starts.
extern "C" fn read_sigpipe() {
    SIGPIPE_WAS_IGNORED.store(has_action(libc::SIGPIPE, libc::SIG_IGN), Ordering::Relaxed);
}

// SAFETY: the loader calls each function of this section once, before `main`, in the only thread. The function makes one
// system call and stores a flag.
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static READ_SIGPIPE: extern "C" fn() = read_sigpipe;

/// Whether the program was started with the signal ignored. Called before the program changes a disposition.
pub fn is_ignored(signal: i32) -> bool {
    match signal {
        libc::SIGPIPE => SIGPIPE_WAS_IGNORED.load(Ordering::Relaxed),
        _ => has_action(signal, libc::SIG_IGN),
    }
}

fn has_action(signal: i32, action: libc::sighandler_t) -> bool {
    let mut present = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, sigaction only writes the present one into `present`, which is valid for writes; all-zero
    // bytes are a valid value of that plain struct.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), present.as_mut_ptr()) == 0
            && present.assume_init().sa_sigaction == action
    }
}

/// A set of blocked signals.
#[derive(Clone, Copy)]
pub struct Mask(libc::sigset_t);

impl Mask {
    /// All signals.
    pub fn all() -> Mask {
        let mut set = MaybeUninit::zeroed();
        // SAFETY: sigfillset initializes the set that it gets.
        unsafe {
            libc::sigfillset(set.as_mut_ptr());
            Mask(set.assume_init())
        }
    }

    /// No signal.
    pub fn none() -> Mask {
        let mut set = MaybeUninit::zeroed();
        // SAFETY: sigemptyset initializes the set that it gets.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            Mask(set.assume_init())
        }
    }

    /// Blocks these signals and no others in the calling thread, and returns those that were blocked before.
    pub fn swap(self) -> Mask {
        let mut before = Mask::none();
        // SAFETY: both sets are initialized.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, &mut before.0) };
        before
    }
}

/// Sets the disposition of a signal to its default, or to being ignored.
pub fn set_ignored(signal: i32, ignored: bool) {
    // SAFETY: neither action is a function, so there is nothing that they could run.
    unsafe { libc::signal(signal, if ignored { libc::SIG_IGN } else { libc::SIG_DFL }) };
}
