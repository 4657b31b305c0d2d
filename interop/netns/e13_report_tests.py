"""What e13_report.py must notice: python3 interop/netns/e13_report_tests.py"""

import json
import os
import tempfile
import unittest

import e13_report as report

TOLD = {"run": "0", "videos": "1", "congestion": "reno", "window": "3", "pattern": "", "kernel": "6.1", "start": "0.5", "handover": "20.01"}
TOLD |= {"load_before": "1", "load_after": "2", "urgent": "3", "jobs": "1", "messages": "1970"}
CABLE = {"packets": 9, "bytes": 9, "lost": 0, "no_room": 0, "queue_bytes_max": 225_000}


class Logs(tempfile.TemporaryDirectory):
    """Of a run as it should be, unless told otherwise."""

    def __init__(self, cable=CABLE, point=2_500_000, transfer=None, ahead=150, late=0.001, congestion="reno"):
        super().__init__()
        self.put("view0", {"transfer_s": [0.5] * 1970 if transfer is None else transfer, "ahead": ahead, "late_s": late, "error": None})
        self.put("serve0", {"retransmitted": 3})
        self.put("flow", {"congestion": congestion})
        self.put("sink", {"ready": True}, *({"point": number, "bytes": point} for number in range(18)))
        self.put("wire", {"ready": True}, {"forth": cable, "back": cable})

    def put(self, name, *rows):
        with open(os.path.join(self.name, name), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def faults(**other):
    with Logs(**other) as logs:
        return report.faults(report.measure(logs, TOLD))


class Report(unittest.TestCase):
    def test_a_run_as_it_should_be(self):
        transfer = [1.0] * 30 + [2.0] + [0.25] * 1939
        with Logs(transfer=transfer) as logs:
            row = report.measure(logs, TOLD)
        self.assertEqual(report.faults(row), [])
        self.assertEqual((row["mtt_start"], row["mmtt_start"], row["mmtt"]), (1.0, 2.0, 2.0))
        self.assertEqual((row["tcp_thr_before"], row["tcp_thr_video"], row["video_rtx"]), (4e6, 4e6, 3))

    def test_measurement_points_are_those_of_the_lab(self):
        with Logs() as logs:
            with open(os.path.join(logs, "sink"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps({"point": n, "bytes": n * 625_000}) + "\n" for n in range(18))
            row = report.measure(logs, TOLD)
        # Points 2 and 3 before 20 s; 5 to 16 wholly within the 65 s that follow.
        self.assertEqual((row["tcp_thr_before"], row["tcp_thr_video"]), (2.5e6, 10.5e6))

    def test_what_cannot_be_is_noticed(self):
        for other, words in [
            ({"transfer": [0.1] * 1970}, "less than the delay"),
            ({"point": 4_000_000}, "TCP had 6.40"),
            ({"point": 0}, "TCP had 0.00"),
            ({"ahead": 0}, "first path"),
            ({"late": 0.2}, "late"),
            ({"cable": CABLE | {"queue_bytes_max": 225_001}}, "waited"),
        ]:
            self.assertIn(words, " ".join(faults(**other)), other)

    def test_a_run_that_is_not_whole_is_no_row(self):
        with Logs(congestion="cubic") as logs, self.assertRaises(ValueError):
            report.measure(logs, TOLD)
        for missing in ("serve0", "view0", "flow", "sink", "wire"):
            with Logs() as logs:
                os.remove(os.path.join(logs, missing))
                with self.assertRaises((OSError, ValueError), msg=missing):
                    report.measure(logs, TOLD)
        with Logs(transfer=[0.5] * 100) as logs:
            row = report.measure(logs, TOLD)
        self.assertEqual((row["whole"], row["mmtt"], row["mtt_start"]), (False, None, 0.5))

    def test_a_pattern_takes_out_what_it_says(self):
        with tempfile.NamedTemporaryFile("w", suffix=".pattern") as pattern:
            pattern.write("packet 4 drop # one\npacket 9-10 drop\nms 3 delay 4ms\n")
            pattern.flush()
            for lost, whole, complaints in [(3, 1970, 0), (2, 1970, 1), (4, 1970, 1), (3, 1969, 1)]:
                with Logs(cable=CABLE | {"lost": lost}, transfer=[0.5] * whole) as logs:
                    row = report.measure(logs, TOLD)
                self.assertEqual(len(report.check([row], pattern.name)), complaints, (lost, whole))
        self.assertEqual(report.check([]), ["there is no run"])

    def test_claims_can_fail(self):
        def rows(**changed):
            found = {}
            for window, start in (("3", 4.0), ("10", 2.0), ("20", 1.0), ("NR", 0.9)):
                values = {"mtt_start": start, "mmtt_start": start, "tcp_thr_video": 4e6, "tcp_thr_before": 5.8e6}
                for videos in ("1", "2"):
                    for metric, value in values.items():
                        found[videos, "reno", window, metric, ""] = {"mean": str(changed.get(f"{metric}_{videos}_{window}", value))}
                    for point in range(21):
                        throughput = changed.get(f"tcp_thr_{videos}_{window}_{point}", 4e6)
                        found[videos, "reno", window, "tcp_thr", str(point)] = {"mean": str(throughput)}
            return list(report.verdicts(found, "reno"))

        self.assertEqual(rows(), [True] * len(report.CLAIMS))
        for changed, claim in [
            ({"mtt_start_1_10": 5.0}, 0),
            ({"mmtt_start_1_20": -1.0}, 1),
            ({f"tcp_thr_video_1_{window}": 4.5e6 for window in ("3", "10", "20", "NR")}, 2),
            ({"tcp_thr_video_1_10": 3.6e6}, 3),
            ({"tcp_thr_video_1_NR": 3.5e6}, 4),
            ({"tcp_thr_2_10_9": 2.8e6}, 5),
        ]:
            self.assertEqual(rows(**changed), [n != claim for n in range(len(report.CLAIMS))], changed)
        self.assertEqual(list(report.verdicts({}, "reno")), [None] * len(report.CLAIMS))

    def test_intervals(self):
        middle, half = report.interval([1.0, 2.0, 3.0])
        self.assertEqual(middle, 2.0)
        self.assertAlmostEqual(half, 4.303 / 3**0.5, places=3)
        self.assertEqual(report.interval([4.0, None]), (4.0, None))


if __name__ == "__main__":
    unittest.main()
