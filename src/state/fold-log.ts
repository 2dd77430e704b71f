/** @module Applies the events of a log to the document that the log follows. */
import type { StateDocument } from "../model/state.ts";
import { liveDocument } from "./live-document.ts";
import { appendTo } from "./reducer.ts";
import { logDamaged, logGone, logStray, readLog } from "./state-log.ts";

/**
 * Adds to a document what its log says happened since. Throws `state-log-gone`, `state-log-stray` or `state-log-damaged`
 * where the two do not make one whole state. `file` is the state, for messages.
 */
export function foldLog(state: StateDocument, log: string | undefined, file: string): StateDocument {
  if (log === undefined) throw logGone(file, state);
  const { head, events } = readLog(log, file);
  const isOurs =
    head.lineage === state.lineage && head.serial === state.serial && head.savedAt === state.savedAt;
  if (!isOurs) throw logStray(file, state, head);
  const live = liveDocument(state);
  // A journal records nothing that changes nothing.
  for (const event of events) if (!appendTo(live, event)) throw logDamaged(file);
  return live.view;
}
