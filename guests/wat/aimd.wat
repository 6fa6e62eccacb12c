;; Additive increase, multiplicative decrease, by the ECN echo of acknowledgements: a congestion control in text.
;;
;; No mark: rate += increase, a fixed step for each acknowledgement. A mark: rate /= 2, at most once in a base round-trip time.
;; State: 8 bytes, the time before which there is no further decrease.
(module
  (memory (export "memory") 1)
  ;; The block lies at 1024, and the metadata at 4096.
  (data (i32.const 4096) "{\"abi\": 1, \"name\": \"aimd\", \"summary\": \"halves the rate on a mark, else adds a step\", \"feedback\": \"ecn-echo\", \"state\": 8, \"parameters\": [{\"key\": \"increase\", \"summary\": \"added to the rate by an acknowledgement without a mark\", \"unit\": \"bit/s\", \"default\": 50000000, \"min\": 1, \"max\": 1000000000000}, {\"key\": \"least\", \"summary\": \"the rate does not fall below\", \"unit\": \"bit/s\", \"default\": 100000000, \"min\": 1, \"max\": 1000000000000}]}")
  (func (export "rl_abi") (result i32) i32.const 1)
  (func (export "rl_meta") (result i64)
    ;; Address in the upper half, length in the lower one.
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.const 428)))
  (func (export "rl_block") (result i32) i32.const 1024)
  (func (export "rl_event") (param $kind i32)
    (local $rate i64)
    ;; 0, open: start at the line rate, without a window.
    (if (i32.eqz (local.get $kind)) (then
      (i64.store (i32.const 1120) (i64.load (i32.const 1080)))
      (i64.store (i32.const 1128) (i64.const -1))))
    ;; 1, ack.
    (if (i32.eq (local.get $kind) (i32.const 1)) (then
      (local.set $rate (i64.load (i32.const 1120)))
      (if (i32.and (i32.load (i32.const 1072)) (i32.const 1))
        (then
          (if (i64.ge_u (i64.load (i32.const 1024)) (i64.load (i32.const 1552))) (then
            (local.set $rate (i64.shr_u (local.get $rate) (i64.const 1)))
            (if (i64.lt_u (local.get $rate) (i64.load (i32.const 1176)))
              (then (local.set $rate (i64.load (i32.const 1176)))))
            (i64.store (i32.const 1552)
              (i64.add (i64.load (i32.const 1024)) (i64.load (i32.const 1088)))))))
        (else
          (local.set $rate (i64.add (local.get $rate) (i64.load (i32.const 1168))))
          (if (i64.gt_u (local.get $rate) (i64.load (i32.const 1080)))
            (then (local.set $rate (i64.load (i32.const 1080)))))))
      (i64.store (i32.const 1120) (local.get $rate))))))
