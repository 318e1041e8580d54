declare module 'parse-prometheus-text-format' {
  /** Families as prom2json writes them, all values as text. @throws for a line that cannot be read */
  export default function parse(text: string): unknown[];
}
