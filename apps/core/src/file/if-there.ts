/** The result of work on a file or folder, or something else when that does not exist. Every other fault is thrown. */
export async function ifThere<T, Other>(work: Promise<T>, otherwise: Other): Promise<T | Other> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}
