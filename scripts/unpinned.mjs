/**
 * Packages of a lock file that npm would install on a machine without comparing them with a hash. Runs before anything is
 * installed, on any Node from 18.
 */
export function unpinned(packages, machine) {
  return Object.entries(packages)
    .filter(([path, entry]) => path !== "" && !entry.link && !entry.integrity && isFor(entry, machine))
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
}

/** The machine that this runs on, in npm's words. */
export function thisMachine() {
  const { platform: os, arch: cpu } = process;
  if (os !== "linux") return { os, cpu };
  const { glibcVersionRuntime } = process.report.getReport().header;
  return { os, cpu, libc: glibcVersionRuntime === undefined ? "musl" : "glibc" };
}

function isFor(entry, machine) {
  return ["os", "cpu", "libc"].every((key) => isAmong(machine[key], entry[key]));
}

/** npm's reading: nothing said is everything, one word or a list of them, `!` for all but this. */
function isAmong(value, said) {
  const words = said === undefined ? [] : [said].flat();
  if (words.includes(`!${value}`)) return false;
  const wanted = words.filter((word) => !word.startsWith("!"));
  return wanted.length === 0 || value === undefined || wanted.includes(value);
}
