/** Of this tab: a reload keeps it. */
const place = 'svc-begun-uploads';
const maxKept = 50;

type Begun = Record<string, string>;

/** The same file, as far as a page can know. */
const nameOf = ({ name, size, lastModified }: File): string => JSON.stringify([name, size, lastModified]);

function read(): Begun {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? '{}') as Begun;
  } catch {
    return {}; // a browser that keeps nothing, or words of another program: the upload begins again
  }
}

function write(begun: Begun): void {
  try {
    sessionStorage.setItem(place, JSON.stringify(Object.fromEntries(Object.entries(begun).slice(-maxKept))));
  } catch {
    // Without it a reload begins again; this upload goes on.
  }
}

/** The upload of a file that has begun; null when there is none. */
export const beginningOf = (file: File): string | null => read()[nameOf(file)] ?? null;

export const keepBeginning = (file: File, id: string): void => write({ ...read(), [nameOf(file)]: id });

export function forgetBeginning(file: File): void {
  const { [nameOf(file)]: _, ...others } = read();
  write(others);
}

/** Names of files go with the login. */
export const forgetBegunUploads = (): void => write({});
