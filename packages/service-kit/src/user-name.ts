import { userInfo } from 'node:os';

/** The name of the user of this process. In a container a user may have a number but no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'local');
  }
}
