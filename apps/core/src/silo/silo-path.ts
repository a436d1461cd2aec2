import { badRequest } from '@svc/service-kit/service-error.ts';
import { isPlainPath } from '../file/plain-path.ts';

/** The path of a file in a silo, in one spelling. @throws ServiceError `bad_request` for what is no relative path. */
export function siloPath(text: string | undefined): string {
  const path = (text ?? '').normalize('NFC');
  // A drive, as some systems have them, is absolute too.
  if (isPlainPath(path) && !/^[a-z]:/i.test(path)) return path;
  throw badRequest(
    'path takes the place of a file in the silo, such as notes/plan.md: relative, and without ".", ".." or empty parts.',
  );
}
