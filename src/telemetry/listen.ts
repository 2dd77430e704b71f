/** @module Listens to a channel of this process. */
import type { Channel } from "node:diagnostics_channel";

/** Calls back with every message that is an object. Returns the function that ends it. */
export function listen(
  channel: Channel,
  heard: (message: { readonly [key: string]: unknown }) => void,
): () => void {
  const onMessage = (message: unknown): void => {
    if (typeof message === "object" && message !== null) heard({ ...message });
  };
  channel.subscribe(onMessage);
  return () => void channel.unsubscribe(onMessage);
}
