import { expect, it } from "vitest";
import { type Order, openThreads, threadEnded } from "../../src/controller/runs/thread-pool.ts";

/** A thread that answers an order with its state, but for one, in which it hangs. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", (order) => {
    while (order.state === "hang");
    if (order !== "stop") parentPort.postMessage({ done: order.state });
  });
`)}`,
);
const order = (state: string): Order => ({
  ...{
    files: [],
    limits: { folder: "", reserved: [], commands: {} },
    isStored: false,
    bound: undefined,
    env: {},
    service: {},
  },
  state,
});

it("a thread that hangs is ended some time after its order was told to stop, and its place is free again", async () => {
  const threads = openThreads(entry, 50);
  const never = new AbortController().signal;
  expect(await threads.plan(order("well"), never)).toBe("well");
  const stopping = new AbortController();
  const hanging = threads.plan(order("hang"), stopping.signal);
  stopping.abort("canceled");
  await expect(hanging).rejects.toMatchObject({ code: threadEnded });
  expect(await threads.plan(order("again"), never)).toBe("again");
  await threads.close();
});
