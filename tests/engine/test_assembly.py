from __future__ import annotations

import subprocess
import sys

from app.engine.assembly import StepClock


def test_a_step_has_begun_until_the_loop_has_counted_it():
    now_ns = [100]
    clock = StepClock(lambda: now_ns[0])
    assert clock.began_ns(0) is None, "no step yet"
    clock.begin(0)
    assert clock.began_ns(0) == 100
    now_ns[0] = 150
    assert clock.began_ns(0) == 100, "still the same step"
    clock.begin(0)
    assert clock.began_ns(0) == 150, "it failed and is tried again"
    assert clock.began_ns(1) is None, "it is done"
    clock.begin(1)
    assert clock.began_ns(1) == 150


def test_the_web_process_does_not_import_torch():
    program = "import sys, app.engine.supervisor, app.engine.scripted; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout == "False\n", told.stderr
