import { userInfo } from 'node:os';

/** Who runs this process. In a container a user may have a number and no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'local');
  }
}
