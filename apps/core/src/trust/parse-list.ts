/** A list of names as stored, or `*` for all of them. */
export const parseList = (text: string): string[] | '*' => (text === '*' ? '*' : (JSON.parse(text) as string[]));

export const listText = (list: readonly string[] | '*'): string => (list === '*' ? '*' : JSON.stringify(list));
