/** @module Describes the store of a state in a file. */
import { textIn } from "../json.ts";
import { type StoreDescription, textKey, unreadableAddress } from "./store-description.ts";

/** A file, with a log and a lock beside it. */
export interface FileLocation {
  readonly type: "file";
  readonly path: string;
  /** The same path in the other folders that it could be relative to. */
  readonly elsewhere?: readonly string[];
}

export const file: StoreDescription<FileLocation> = {
  place: "a file",
  keys: { path: textKey("file: path, relative to the current folder.") },
  required: [],
  variables: {},
  schemes: ["file"],
  spelling: "file:///PATH, or the path alone",
  refusesStaleWrites: true,
  locksExpire: true,
  readAddress(url, given) {
    // file://tmp/x names a host, and a path that was not meant.
    if (url.host !== "" || !/^file:\/\/\//i.test(given))
      throw unreadableAddress(given, "a file is file:///PATH, or the path alone");
    return { path: decodeURIComponent(url.pathname) };
  },
  locate: (values) => ({ type: "file", path: textIn(values["path"]) ?? "" }),
  address: ({ path }) => path,
  source: () => "none needed",
  clock: () => undefined,
  pipeline: () => ({ variables: ["GRAPHFORM_STATE"] }),
};
