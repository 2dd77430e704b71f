/** @module Pins the npm package with the graph module. */

/** The npm package with the graph module and a server for newer systems. A test compares it with package-lock.json. */
export const modulePackage = {
  name: "@falkordblite/linux-x64",
  version: "8.2.3-falkordb.4.16.3",
  /** Hash of the package's file, as in a lock file. */
  integrity:
    "sha512-0X4Olb3lBnMkxvGsRiTTT4q/SNTkDPaNPBGWNm8qSBoWkbY6VxgCs9jHRkkZWB11hIzjLRJbcoVSjjGuroXp6w==",
  system: "linux",
  processor: "x64",
} as const;

/** True where the package has binaries for this machine. */
export function hasModulePackage(machine: { readonly platform: string; readonly arch: string }): boolean {
  return machine.platform === modulePackage.system && machine.arch === modulePackage.processor;
}
