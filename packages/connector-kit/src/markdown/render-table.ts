type Align = 'center' | 'left' | 'right' | null;

/** A table in letters of one width, for platforms that have none. The first row is its head. */
export function renderTable(rows: readonly (readonly string[])[], aligns: readonly Align[]): string {
  const widths = aligns.map((_, column) => Math.max(3, ...rows.map((row) => lengthOf(row[column] ?? ''))));
  const lines = rows.map((row) =>
    widths
      .map((width, column) => pad(row[column] ?? '', width, aligns[column] ?? null))
      .join(' | ')
      .trimEnd(),
  );
  const [head = '', ...body] = lines;
  return [head, widths.map((width) => '-'.repeat(width)).join('-|-'), ...body].join('\n');
}

function pad(text: string, width: number, align: Align): string {
  const missing = width - lengthOf(text);
  const before = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  return ' '.repeat(before) + text + ' '.repeat(missing - before);
}

const lengthOf = (text: string): number => Array.from(text).length;
