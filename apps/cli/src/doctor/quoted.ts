/** A file as a shell reads it in one word. */
export const quoted = (file: string): string => (/^[\w./~-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`);
