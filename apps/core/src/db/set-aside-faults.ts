import path from 'node:path';
import { restoreAdvice } from '@svc/service-kit/restore/restore-advice.ts';
import { findSetAside } from '@svc/store/set-aside.ts';

/** Files with changes that could not be applied: something that was acknowledged may be missing until a person has looked. */
export const setAsideFaults = (root: string): string[] =>
  findSetAside(root).map(
    (name) =>
      `Changes in ${path.join(root, name)} could not be applied, so what was said just before may be missing. ` +
      `${restoreAdvice(root)}; or remove the file when nothing is missing.`,
  );
