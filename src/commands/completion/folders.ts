/** @module Finds the folders that a half-written path may mean. */
import { readdirSync, statSync } from "node:fs";

/** Folders beside the last part of a path, each with a slash at its end; hidden ones where the path asks for them. */
export function foldersAt(current: string): readonly string[] {
  const above = current.slice(0, current.lastIndexOf("/") + 1);
  const begun = current.slice(above.length);
  const names = readdirSync(above === "" ? "." : above).filter(
    (name) => name.startsWith(begun) && (begun.startsWith(".") || !name.startsWith(".")),
  );
  return names
    .map((name) => `${above}${name}/`)
    .filter((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true)
    .toSorted();
}
