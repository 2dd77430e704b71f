/** @module Names the channels on which a run is published to listeners in this process. */
import { type Channel, channel } from "node:diagnostics_channel";

/** Publishes the manifest's name once it is read: `{ name }`. */
export const manifestRead: Channel = channel("graphform:manifest");

/** Publishes each event of an apply: an `ApplyEvent`. */
export const stepEvents: Channel = channel("graphform:step");
