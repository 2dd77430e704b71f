/** What the platform and its databases need of whoever starts them, and nothing else: they live on when that one is long gone. */
const needed = [
  // Where programs and files are found.
  ...["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH"],
  // Which database server runs, with which graph module.
  ...["GRAPHFORM_ENGINE", "GRAPHFORM_MODULE"],
  // Of this program's own runtime: where compiled code is kept, and how dates and texts are read.
  ...["NODE_COMPILE_CACHE", "TZ", "LANG", "LC_ALL"],
];

/** The environment of a platform that is started from another one. */
export function platformEnvironment(env: NodeJS.ProcessEnv): { [name: string]: string } {
  return Object.fromEntries(
    needed.flatMap((name): [string, string][] => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
