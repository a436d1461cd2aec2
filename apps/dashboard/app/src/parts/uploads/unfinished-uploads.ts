/** Storage of this tab, which survives a reload. */
const place = 'svc-begun-uploads';
const maxKept = 50;

type Unfinished = Record<string, string>;

/** Identifies a file as far as a page can. */
const nameOf = ({ name, size, lastModified }: File): string => JSON.stringify([name, size, lastModified]);

function read(): Unfinished {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? '{}') as Unfinished;
  } catch {
    return {}; // no storage, or data of another program: the upload starts from the beginning
  }
}

function write(unfinished: Unfinished): void {
  try {
    sessionStorage.setItem(place, JSON.stringify(Object.fromEntries(Object.entries(unfinished).slice(-maxKept))));
  } catch {
    // Without the entry a reload starts from the beginning; this upload continues.
  }
}

/** The unfinished upload of a file; null when there is none. */
export const unfinishedUpload = (file: File): string | null => read()[nameOf(file)] ?? null;

export const keepUnfinishedUpload = (file: File, id: string): void => write({ ...read(), [nameOf(file)]: id });

export function forgetUnfinishedUpload(file: File): void {
  const { [nameOf(file)]: _, ...others } = read();
  write(others);
}

/** Forgets the names of files when the login ends. */
export const forgetUnfinishedUploads = (): void => write({});
