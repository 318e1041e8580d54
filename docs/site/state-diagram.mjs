// A state diagram in Mermaid's words, drawn when the site is built: readers load no program for it.
import { instance } from '@viz-js/viz';

const graphviz = await instance();

/** Labels of many words go below each other. @param {string} label */
function toLines(label) {
  const words = label.split(', ');
  const lines = [];
  while (words.length > 0) lines.push(words.splice(0, 3).join(', '));
  return lines.join(',\n');
}

/** Names of edges and groups of the drawing would be shown as tooltips. @param {string} svg */
function withoutNames(svg) {
  return svg.replace(/<title>[^<]*<\/title>\n?/g, '').replace(/<!--[\s\S]*?-->\n?/g, '');
}

/**
 * `stateDiagram-v2` with lines `a --> b: label`, as SVG in the color of the text around it.
 * @param {string} code @throws Error for a line that is something else.
 */
export function drawStateDiagram(code) {
  const [first, ...lines] = code.trim().split('\n');
  if (first?.trim() !== 'stateDiagram-v2') throw new Error(`Only state diagrams are drawn, not: ${first}`);
  const edges = lines.map((line) => {
    const [, from = '', to = '', label = ''] = /^\s*(\S+) --> ([^\s:]+)(?::\s*(.*))?$/.exec(line) ?? [];
    if (from === '') throw new Error(`No edge of a state diagram: ${line}`);
    return {
      tail: from === '[*]' ? 'start' : from,
      head: to === '[*]' ? 'stop' : to,
      attributes: { label: toLines(label) },
    };
  });
  const dot = { shape: 'circle', label: '', width: 0.14, style: 'filled', fillcolor: 'currentColor' };
  const svg = graphviz.renderString(
    {
      directed: true,
      graphAttributes: { bgcolor: 'transparent', rankdir: 'TB', nodesep: 0.5, ranksep: 0.6 },
      nodeAttributes: {
        ...{ shape: 'box', style: 'rounded', color: 'currentColor', fontcolor: 'currentColor' },
        ...{ fontname: 'sans-serif', fontsize: 13 },
      },
      edgeAttributes: {
        ...{ color: 'currentColor', fontcolor: 'currentColor', fontname: 'sans-serif' },
        ...{ fontsize: 10, arrowsize: 0.7 },
      },
      nodes: [
        { name: 'start', attributes: dot },
        { name: 'stop', attributes: { ...dot, shape: 'doublecircle' } },
      ],
      edges,
    },
    { format: 'svg' },
  );
  const drawing = withoutNames(svg.slice(svg.indexOf('<svg')));
  return `<div class="state-diagram" v-pre role="img" aria-label="State diagram">${drawing}</div>\n`;
}
