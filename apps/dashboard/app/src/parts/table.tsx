import type { ReactNode } from 'react';

/** `isNumber`: to the right. `isMain`: names the row, and stands first on a phone. */
export type Column<Row> = { name: string; cell(row: Row): ReactNode; isNumber?: boolean; isMain?: boolean };

type Props<Row> = { caption: string; columns: readonly Column<Row>[]; rows: readonly Row[]; keyOf(row: Row): string };

/** Rows of facts; on a phone each row is a card. `caption` is for those who do not see it. */
export function Table<Row>({ caption, columns, rows, keyOf }: Props<Row>) {
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={caption}>
      <table className="facts">
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber = false }) => (
              <th key={name} scope="col" className={isNumber ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isNumber = false, isMain = false }) =>
                isMain ? (
                  <th key={name} scope="row" className="main-cell">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name} className={isNumber ? 'number' : undefined} data-label={name}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
