import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { personaNamePattern } from '@svc/contract/instance-rules.ts';
import { writeFileAtomic, namesIn } from '@svc/service-kit/files.ts';
import { holdsPlaceholder } from '@svc/service-kit/redaction/placeholder.ts';
import { badRequest, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import { maxPersonaBytes } from './persona.ts';

/**
 * The operator's own texts, as their files contain them: the default one (`null`), and those that instances name.
 * Every method @throws ServiceError `bad_request` for an invalid name.
 */
export type PersonaFiles = {
  names(): string[];
  /** The whole file; null when there is none. @throws ServiceError `too_large` for a file that is too large for a persona. */
  read(name: string | null): string | null;
  /**
   * @param was What the writer has read; undefined to overwrite any content.
   * @throws ServiceError `too_large`, `conflict` when the content has changed meanwhile.
   */
  write(name: string | null, own: string, was?: string): void;
  /** @throws ServiceError `not_found` */
  remove(name: string): void;
};

type Deps = { file: string; folder: string };

export function createPersonaFiles({ file, folder }: Deps): PersonaFiles {
  const fileOf = (name: string | null): string => (name === null ? file : path.join(folder, `${checked(name)}.md`));

  const read = (name: string | null): string | null => {
    const found = statSync(fileOf(name), { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (found.size > maxPersonaBytes) throw tooLong();
    return readFileSync(fileOf(name), 'utf8');
  };

  return {
    read,

    names: () =>
      filesOf(folder)
        .map((entry) => entry.replace(/\.md$/, ''))
        .filter((name) => isName.test(name))
        .toSorted(),

    write(name, own, was) {
      checkWords(own);
      if (was !== undefined && (read(name) ?? '') !== was) throw changed();
      if (name !== null) mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileAtomic(fileOf(name), own);
    },

    remove(name) {
      if (read(name) === null) throw notFound('persona', name);
      rmSync(fileOf(name));
    },
  };
}

const isName = new RegExp(personaNamePattern);

function checked(name: string): string {
  if (isName.test(name)) return name;
  throw badRequest(`"${name.slice(0, 64)}" is not a valid persona name: it must be 1 to 64 of a-z, 0-9 and "-".`);
}

function checkWords(own: string): void {
  if (Buffer.byteLength(own) > maxPersonaBytes) throw tooLong();
  // Text that was read through the mask must not overwrite the file's content.
  if (holdsPlaceholder(own))
    throw badRequest('The text contains a masked secret. Remove it: a persona must not contain secrets.');
}

const filesOf = (folder: string): string[] => namesIn(folder).filter((entry) => entry.endsWith('.md'));

const tooLong = () =>
  new ServiceError('too_large', `A persona has at most ${maxPersonaBytes / 1024} KiB. Say the same in fewer words.`);
const changed = () =>
  new ServiceError('conflict', 'This persona has been changed in the meantime. Open it again and edit the new version.');
