//! SQLite's own way to files, with faults put in: a VFS in front of the usual one that lets chosen operations fail.
//!
//! Only files whose path holds [`MARK`] are struck, and only while a test has the [`Injector`].

use std::ffi::{CStr, c_int, c_void};
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

/// Part of the path of files that may be struck.
pub const MARK: &str = "faulty";

/// Which operations fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Any.
    Io,
    /// Writes: the disk is full.
    Full,
}

/// For how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lasting {
    /// One operation.
    Once,
    /// All of them until the fault is lifted.
    UntilLifted,
}

const OFF: i64 = i64::MAX;

/// So many operations from now one fails.
static COUNTDOWN: AtomicI64 = AtomicI64::new(OFF);
static LASTS: AtomicBool = AtomicBool::new(false);
static FULL: AtomicBool = AtomicBool::new(false);
static STRUCK: AtomicU64 = AtomicU64::new(0);

/// The right to let operations fail.
pub struct Injector(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, ()>);

impl Injector {
    /// Waits until no other test has it.
    pub fn take() -> Injector {
        static TAKEN: Mutex<()> = Mutex::new(());
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(register);
        Injector(TAKEN.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets an operation fail after so many that do not.
    pub fn arm(&self, fault: Fault, lasting: Lasting, after: u64) {
        LASTS.store(lasting == Lasting::UntilLifted, Ordering::SeqCst);
        FULL.store(fault == Fault::Full, Ordering::SeqCst);
        STRUCK.store(0, Ordering::SeqCst);
        COUNTDOWN.store(i64::try_from(after).unwrap(), Ordering::SeqCst);
    }

    /// The fault is gone.
    pub fn lift(&self) {
        COUNTDOWN.store(OFF, Ordering::SeqCst);
    }

    /// How many operations have failed since it was armed.
    pub fn struck(&self) -> u64 {
        STRUCK.load(Ordering::SeqCst)
    }

    /// Looks without being struck, and without moving on to the next fault.
    pub fn look<T>(&self, look: impl FnOnce() -> T) -> T {
        let countdown = COUNTDOWN.swap(OFF, Ordering::SeqCst);
        let seen = look();
        COUNTDOWN.store(countdown, Ordering::SeqCst);
        seen
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        self.lift();
    }
}

/// Whether this operation fails.
fn strikes(is_write: bool) -> bool {
    if COUNTDOWN.load(Ordering::SeqCst) == OFF || (FULL.load(Ordering::SeqCst) && !is_write) {
        return false;
    }
    let left = COUNTDOWN.fetch_sub(1, Ordering::SeqCst);
    let strikes = left == 0 || (left < 0 && LASTS.load(Ordering::SeqCst));
    if strikes {
        STRUCK.fetch_add(1, Ordering::SeqCst);
    }
    strikes
}

static USUAL: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(std::ptr::null_mut());

fn usual() -> &'static sqlite3_vfs {
    // SAFETY: set once in `register`, before any of the functions below can be called, to a VFS that SQLite never frees.
    unsafe { &*USUAL.load(Ordering::SeqCst) }
}

fn register() {
    // SAFETY: SQLite hands out its default VFS, which lives as long as the process; a copy of it, with another name and
    // another `xOpen`, is leaked and so lives as long.
    unsafe {
        let usual = ffi::sqlite3_vfs_find(std::ptr::null());
        USUAL.store(usual, Ordering::SeqCst);
        let ours = Box::leak(Box::new(sqlite3_vfs {
            szOsFile: (*usual).szOsFile + size_of::<*const sqlite3_io_methods>() as c_int,
            pNext: std::ptr::null_mut(),
            zName: c"halfopen-faulty".as_ptr(),
            xOpen: Some(open),
            ..*usual
        }));
        assert_eq!(ffi::sqlite3_vfs_register(ours, 1), ffi::SQLITE_OK);
    }
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives a C string or null.
    let marked = !name.is_null() && unsafe { CStr::from_ptr(name) }.to_string_lossy().contains(MARK);
    if marked && strikes(false) {
        // SAFETY: `file` is a place for a file; one without methods is one that is not open.
        unsafe { (*file).pMethods = std::ptr::null() };
        return ffi::SQLITE_CANTOPEN;
    }
    let Some(open) = usual().xOpen else { return ffi::SQLITE_CANTOPEN };
    // SAFETY: the usual VFS needs less room than was asked for, and everything else as SQLite gave it.
    let code = unsafe { open(vfs, name, file, flags, flags_out) };
    // SAFETY: the room behind the usual VFS's part of the file was asked for in `register`; methods are static.
    unsafe {
        if marked && !(*file).pMethods.is_null() {
            *methods_of(file) = (*file).pMethods;
            (*file).pMethods = &OURS;
        }
    }
    code
}

/// Where the usual methods of a file stand: behind what the usual VFS keeps of it.
unsafe fn methods_of(file: *mut sqlite3_file) -> *mut *const sqlite3_io_methods {
    let size = usize::try_from(usual().szOsFile).unwrap_or_default();
    // SAFETY: the caller has a file that this VFS opened, so there is room; its size keeps pointers aligned.
    unsafe { file.cast::<u8>().add(size).cast() }
}

/// A method that fails when struck, and otherwise does what the usual one does.
macro_rules! method {
    ($name:ident ($($arg:ident: $type:ty),*), $method:ident, $code:expr) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file, $($arg: $type),*) -> c_int {
            let code: Option<c_int> = $code;
            if let Some(code) = code && strikes(code == ffi::SQLITE_IOERR_WRITE) {
                return if FULL.load(Ordering::SeqCst) { ffi::SQLITE_FULL } else { code };
            }
            // SAFETY: the usual method, on the file and with the arguments that SQLite gave.
            unsafe { (**methods_of(file)).$method.map_or(ffi::SQLITE_IOERR, |method| method(file, $($arg),*)) }
        }
    };
}

method!(close(), xClose, None);
method!(read(into: *mut c_void, amount: c_int, offset: i64), xRead, Some(ffi::SQLITE_IOERR_READ));
method!(write(from: *const c_void, amount: c_int, offset: i64), xWrite, Some(ffi::SQLITE_IOERR_WRITE));
method!(truncate(size: i64), xTruncate, Some(ffi::SQLITE_IOERR_TRUNCATE));
method!(file_size(size: *mut i64), xFileSize, Some(ffi::SQLITE_IOERR_FSTAT));
method!(lock(level: c_int), xLock, Some(ffi::SQLITE_IOERR_LOCK));
method!(unlock(level: c_int), xUnlock, None);
method!(check_reserved_lock(result: *mut c_int), xCheckReservedLock, Some(ffi::SQLITE_IOERR_CHECKRESERVEDLOCK));
method!(file_control(op: c_int, argument: *mut c_void), xFileControl, None);
method!(sector_size(), xSectorSize, None);
method!(device_characteristics(), xDeviceCharacteristics, None);
method!(shm_map(page: c_int, size: c_int, extend: c_int, at: *mut *mut c_void), xShmMap, Some(ffi::SQLITE_IOERR_SHMMAP));
method!(shm_unmap(delete: c_int), xShmUnmap, None);

unsafe extern "C" fn sync(_file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // The disk is not waited for: no machine crashes in these tests.
    if strikes(false) { ffi::SQLITE_IOERR_FSYNC } else { ffi::SQLITE_OK }
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, many: c_int, flags: c_int) -> c_int {
    // Giving a lock back does not fail.
    if flags & ffi::SQLITE_SHM_LOCK != 0 && strikes(false) {
        return ffi::SQLITE_IOERR_SHMLOCK;
    }
    // SAFETY: as above.
    unsafe { (**methods_of(file)).xShmLock.map_or(ffi::SQLITE_IOERR, |method| method(file, offset, many, flags)) }
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: as above.
    unsafe {
        if let Some(method) = (**methods_of(file)).xShmBarrier {
            method(file);
        }
    }
}

static OURS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};
