/** Memory that bodies of requests may take while they are worked on. */
export interface BodyBudget {
  /** Takes so many bytes; false where there is no room for them. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** Room of a fixed size. */
export function createBodyBudget(size: number): BodyBudget {
  let left = size;
  return {
    take(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    give(bytes) {
      left += bytes;
    },
  };
}
