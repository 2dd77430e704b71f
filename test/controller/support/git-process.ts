import process from "node:process";
import { newestCommit } from "../../../src/controller/sources/git.ts";

/** Asks the repository of its argument for its newest commit, as a worker does, and waits to be killed. */
const url = process.argv[2] ?? "";
const source = { type: "git", url, ref: "main", path: "" } as const;
await newestCommit(
  { tenant: "shop", source, commit: null },
  { git: { allow: [url], credentials: [] } },
  new AbortController().signal,
);
