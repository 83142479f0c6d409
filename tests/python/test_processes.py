"""The wheel among threads and processes: others run while it waits, a fork disturbs nobody."""

from __future__ import annotations

import collections
import gc
import os
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

import loopx
from world import Project

WORKERS = [f"worker-{n}" for n in range(8)]


@unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
class Forks(Project):
    agents = WORKERS
    todos = [f"[P2] Piece {n}" for n in range(40)]

    def open_files(self) -> dict[str, str]:
        """Open files of this process that belong to the goal."""
        found = {}
        for number in os.listdir("/proc/self/fd"):
            try:
                leads = os.readlink(f"/proc/self/fd/{number}")
            except OSError:
                continue
            if leads.startswith(str(self.folder)):
                found[number] = leads
        return found

    def forked(self, work: object) -> int:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work()  # type: ignore[operator]
                status = 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        return pid

    def ended(self, pids: list[int]) -> None:
        for pid in pids:
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def test_eight_workers_settle_every_turn_once(self) -> None:
        """Each worker uses the kernel that it inherited, and its parent goes on with it."""
        self.kernel.should_run(goal_id="g", agent_id=WORKERS[0])
        turns_each = 5

        def work(agent: str) -> None:
            done = 0
            for n in range(turns_each * 20):
                turn = f"{agent}-{n}"
                packet = self.kernel.turn_admit(goal_id="g", agent_id=agent, turn_instance_id=turn)
                if not packet["should_run"]:
                    time.sleep(0.02)
                    continue
                self.kernel.turn_settle(
                    goal_id="g", agent_id=agent, turn_instance_id=turn,
                    outcome="completed", evidence=[f"made by {turn}"], no_follow_up=True,
                )
                done += 1
                if done == turns_each:
                    return
            raise AssertionError(f"{agent} settled {done}")

        pids = [self.forked(lambda agent=agent: work(agent)) for agent in WORKERS]
        for n in range(5):
            self.kernel.todo_add(goal_id="g", role="user", task_class="user_action", text=f"Note {n}")
        self.ended(pids)
        todos = self.kernel.todo_list(goal_id="g", role="agent")["todos"]
        self.assertEqual(collections.Counter(todo["status"] for todo in todos), {"done": 40})
        self.assertEqual(len({todo["todo_id"] for todo in todos}), 40)
        notes = self.kernel.todo_list(goal_id="g", role="user")["todos"]
        self.assertEqual(len(notes), 5)
        ledger = self.kernel.evidence_log(goal_id="g", limit=1000)["ledger"]
        spends = [row for row in ledger if row["kind"] == "spend"]
        self.assertEqual(sum(row["slots"] for row in spends), 40)
        self.assertEqual(len({row["turn_instance_id"] for row in spends}), 40)
        self.assertEqual(len({row["todo_id"] for row in spends}), 40)
        (window,) = self.kernel.quota_status(goal_id="g")["goals"]
        self.assertEqual((window["spent_slots"], window["reserved_slots"]), (40, 0))
        check = self.kernel.store_check(goal_id="g")
        self.assertTrue(check["ok"], check)

    def test_a_child_closes_nothing_of_its_parent(self) -> None:
        if not os.path.isdir("/proc/self/fd"):
            self.skipTest("there is no /proc to look at")
        self.kernel.todo_list(goal_id="g")
        inherited = self.open_files()
        self.assertTrue([name for name in inherited.values() if name.endswith("goal.db")])

        def work() -> None:
            self.kernel.todo_add(goal_id="g", role="agent", text="From the child")
            assert inherited.items() <= self.open_files().items()
            more = len(self.open_files())
            assert more > len(inherited), "it opened the store anew"
            del self.kernel
            gc.collect()
            left = self.open_files()
            assert inherited.items() <= left.items(), (inherited, left)

        self.ended([self.forked(work)])
        self.assertEqual(self.open_files(), inherited)

    def test_a_child_that_lets_go_of_what_it_inherited_keeps_its_locks(self) -> None:
        """A close drops every lock that its process has on the file, whoever took it."""
        self.kernel.todo_list(goal_id="g")
        store = str(self.stored("goal.db"))
        other = (
            "import sqlite3, sys\n"
            "c = sqlite3.connect(sys.argv[1], timeout=0.1, isolation_level=None)\n"
            "try: c.execute('BEGIN IMMEDIATE'); print('taken')\n"
            "except sqlite3.OperationalError: print('held')"
        )

        def work() -> None:
            held = sqlite3.connect(store, isolation_level=None)
            held.execute("BEGIN IMMEDIATE")
            del self.kernel
            gc.collect()
            said = subprocess.run([sys.executable, "-c", other, store], capture_output=True, text=True)
            assert said.stdout.strip() == "held", said
            held.execute("ROLLBACK")

        self.ended([self.forked(work)])

    def test_a_session_goes_on_in_a_child(self) -> None:
        session = loopx.LoopSession(self.kernel, goal_id="g", surface="pi", session="s", agent_id=WORKERS[0])
        session.step("activated")

        def work() -> None:
            assert session.step("settled")["action"]["kind"] == "prompt"

        self.ended([self.forked(work)])


class Threads(Project):
    def test_other_threads_run_while_the_store_waits_for_a_lock(self) -> None:
        script = "import fcntl, sys, time\nf = open(sys.argv[1], 'rb'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(1)"
        holder = subprocess.Popen(
            [sys.executable, "-c", script, str(self.stored("goal.db.lock"))], stdout=subprocess.PIPE, text=True
        )
        assert holder.stdout is not None
        self.assertEqual(holder.stdout.readline().strip(), "held")
        began = time.monotonic()
        waited: list[float] = []

        def write() -> None:
            self.kernel.todo_add(goal_id="g", role="agent", text="Waits")
            waited.append(time.monotonic() - began)

        writer = threading.Thread(target=write)
        writer.start()
        ticks = 0
        while writer.is_alive():
            time.sleep(0.01)
            ticks += 1
        writer.join()
        holder.wait()
        holder.stdout.close()
        self.assertGreater(waited[0], 0.5, "it did wait")
        self.assertGreater(ticks, 30, "and this thread went on meanwhile")

    def test_a_kernel_is_used_by_many_threads_at_once(self) -> None:
        failures: list[BaseException] = []

        def work(name: int) -> None:
            try:
                for n in range(5):
                    self.kernel.todo_add(goal_id="g", role="agent", text=f"From {name}: {n}")
                    self.kernel.should_run(goal_id="g", agent_id="ada")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len(self.kernel.todo_list(goal_id="g")["todos"]), 42)

    def test_row_137_nothing_is_printed_on_standard_output(self) -> None:
        script = (
            "import loopx\n"
            "k = loopx.Kernel.open()\n"
            "for work in (k._native.panic_for_tests, lambda: k.goal_show(goal_id='zz'), lambda: k.call('x')):\n"
            "    try: work()\n"
            "    except loopx.LoopxError as error: print(error.code)\n"
            "k.todo_add(goal_id='g', role='agent', text='Said nothing'); k.diagnose(goal_id='g')"
        )
        self.assertEqual(self.python(script).split(), ["internal", "goal_not_found", "request_invalid"])

    def test_a_panic_in_many_threads_ends_none(self) -> None:
        caught: list[str] = []

        def work() -> None:
            try:
                self.kernel._native.panic_for_tests()
            except loopx.InternalError as error:
                caught.append(error.code)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(caught, ["internal"] * 4)
        self.assertTrue(self.kernel.should_run(goal_id="g", agent_id="ada")["should_run"])
