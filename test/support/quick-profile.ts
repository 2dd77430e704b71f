import { readFileSync } from "node:fs";

/** The file of the quick profile. */
export const quickProfileFile: string = new URL("quick-profile.yaml", import.meta.url).pathname;

/** Its text: the default profile for a service that shows everything within a second: for tests that wait for absences. */
export const quickProfile: string = readFileSync(quickProfileFile, "utf8");

/** A manifest whose service has the quick profile, unless it says itself what its service is. */
export function quick(manifest: string): string {
  if (/^service:/m.test(manifest) || !manifest.startsWith("apiVersion:")) return manifest;
  return `${manifest}${manifest.endsWith("\n") ? "" : "\n"}service: { profile: ${quickProfileFile} }\n`;
}
