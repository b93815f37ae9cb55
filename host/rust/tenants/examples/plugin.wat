;; A plugin that charges a customer through the breaker, as a compiler would write it: it acquires a permit, makes its call
;; (left out here), reports the outcome, and returns whether a call was made.
(module
  (import "halfopen:breaker/breaker@0.1.0" "acquire" (func $acquire (param i32 i32 i32 i32 i32)))
  (import "halfopen:breaker/breaker@0.1.0" "report"
    (func $report (param i32 i32 i64 i32 i64 i32 i32 i64 i32 i32 i32 i32 i32 i64 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "payments")
  (data (i32.const 8) "checkout")
  (global $free (mut i32) (i32.const 4096))

  ;; The host puts texts and lists of its answers here.
  (func (export "cabi_realloc") (param i32 i32 i32) (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.set $free (i32.add (local.get $at) (local.get $size)))
    (local.get $at))

  (func (export "charge") (param $up i32) (result i32)
    ;; acquire("payments", "checkout"); the answer goes to 1024.
    (call $acquire (i32.const 0) (i32.const 8) (i32.const 8) (i32.const 8) (i32.const 1024))
    ;; An error, or a deferral (case 2 of `decision`): no call is made.
    (if (i32.or
          (i32.load8_u (i32.const 1024))
          (i32.eq (i32.load8_u (i32.const 1032)) (i32.const 2)))
      (then (return (i32.const 0))))
    ;; The call would be made here. The permit is at 1040: its epoch, and its lease.
    (call $report (i32.const 0) (i32.const 8)
      (i64.load (i32.const 1040)) (i32.load8_u (i32.const 1048)) (i64.load (i32.const 1056))
      (i32.eqz (local.get $up)) ;; success or failure
      (i32.const 0) (i64.const 0) ;; the time that the call took: not known
      (i32.const 8) (i32.const 8) ;; the caller
      (i32.const 0) (i32.const 0) ;; the cause: none
      (i32.const 0) (i64.const 0) ;; retry-after: none
      (i32.const 1536))
    (i32.const 1)))
