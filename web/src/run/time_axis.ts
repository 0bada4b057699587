// The time axis of a run.

import { clamp } from "../figure/panel";
import type { View } from "../figure/figure";
import { time, type Scale } from "../figure/scale";
import type { RunFigures } from "../generated/run";

/** It, between the ends that were zoomed to. */
export function timeScale(run: RunFigures["run"], view: View): Scale {
  const epoch = run.begin_realtime_ns === null ? null : run.begin_realtime_ns / 1e6;
  const [from, to] = view.zoom ?? [0, run.span_ns];
  return time(clamp(from, 0, run.span_ns), Math.max(clamp(to, 0, run.span_ns), from + 1), epoch, "");
}
