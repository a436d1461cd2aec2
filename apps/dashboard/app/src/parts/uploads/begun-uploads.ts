/** Storage of this tab, which survives a reload. */
const place = 'svc-begun-uploads';
const maxKept = 50;

type Begun = Record<string, string>;

/** Identifies a file as far as a page can. */
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
    // Without the entry a reload starts from the beginning; this upload continues.
  }
}

/** The unfinished upload of a file; null when there is none. */
export const beginningOf = (file: File): string | null => read()[nameOf(file)] ?? null;

export const keepBeginning = (file: File, id: string): void => write({ ...read(), [nameOf(file)]: id });

export function forgetBeginning(file: File): void {
  const { [nameOf(file)]: _, ...others } = read();
  write(others);
}

/** Forgets the names of files when the login ends. */
export const forgetBegunUploads = (): void => write({});
