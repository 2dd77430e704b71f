import type * as fence from "../../src/state/remote/take-lease.ts";
import type * as unstored from "../../src/state/remote/unstored.ts";
import { type Mutation, without } from "./mutation.ts";

/** Safety rules of states that are shared. */
export const mutationsOfStores: readonly Mutation[] = [
  without<typeof fence.raiseFence>(
    "no-fence",
    631,
    "whoever had the lock before a takeover writes nothing any more",
    "state/remote/take-lease.ts#raiseFence",
    () => async () => undefined,
  ),
  without<typeof unstored.openUnstored>(
    "nothing-kept",
    56,
    "what could not be stored is kept in a file",
    "state/remote/unstored.ts#openUnstored",
    (open) => (run, files) => open(run, { ...files, write: async () => "nowhere" }),
  ),
];
