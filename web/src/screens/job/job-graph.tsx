import { Link } from '@tanstack/react-router';
import { type CSSProperties, useEffect, useRef, useState } from 'react';
import { BATCH_KEY } from '../../../../src/core/batch/batch.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Box, graphLayout, type PlacedGroup } from '../../words/job-page/graph-layout.ts';
import type { GraphNode, JobGraph as Graph } from '../../words/job-page/job-graph.ts';

/** The jobs around a job, with arrows. Each side is a list, so it can be read aloud. */
export function JobGraph({ graph }: { graph: Graph }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const layout = graphLayout(graph, width);
  const { height, self, before, after, edges } = layout;
  return (
    <div ref={frame} className="graph" role="group" aria-label="Graph of related jobs">
      {width > 0 && (
        <div className="graph-area" style={{ width: layout.width, height }}>
          <svg width={layout.width} height={height} aria-hidden="true">
            <defs>
              <marker
                id="graph-arrow"
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                orient="auto"
              >
                <path d="M0 0.500 8 4 0 7.500z" />
              </marker>
            </defs>
            {edges.map(({ relation, path }, index) => (
              <path
                key={index}
                className={`graph-edge graph-${relation}`}
                d={path}
                markerEnd="url(#graph-arrow)"
              />
            ))}
          </svg>
          <Groups groups={before} />
          <div className="graph-node graph-self" style={place(self)} aria-current="true">
            <NodeText node={graph.self} />
          </div>
          <Groups groups={after} />
        </div>
      )}
    </div>
  );
}

function Groups({ groups }: { groups: readonly PlacedGroup[] }) {
  return groups.map(({ title, titleBox, nodes }) => (
    <section key={title.split(':')[0]} aria-label={title}>
      <h3 style={place(titleBox)}>{title}</h3>
      <ul>
        {nodes.map(({ node, box }) => (
          <li key={node.kind === 'job' ? node.jobId : `count ${node.state}`} style={place(box)}>
            <Node node={node} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

function Node({ node }: { node: GraphNode }) {
  if (node.kind === 'count') {
    const state = node.state === null || node.state === 'open' ? '' : `state-${node.state}`;
    return <span className={`graph-node graph-count ${state}`}>{node.words}</span>;
  }
  const { jobId, definitionKey } = node;
  if (definitionKey === null) {
    return (
      <span className="graph-node">
        <NodeText node={node} />
      </span>
    );
  }
  const className = `graph-node edge-${node.state ?? 'unknown'}`;
  if (definitionKey === BATCH_KEY) {
    return (
      <Link to="/batches/$batchId" params={{ batchId: jobId }} className={className}>
        <NodeText node={node} />
      </Link>
    );
  }
  return (
    <Link to="/jobs/$jobId" params={{ jobId }} className={className} title={definitionKey}>
      <NodeText node={node} />
    </Link>
  );
}

function NodeText({
  node: { jobId, definitionKey, state },
}: {
  node: GraphNode & { kind: 'job' };
}) {
  return (
    <>
      <span className="graph-title">
        {definitionKey === BATCH_KEY ? 'batch' : (definitionKey ?? 'deleted')}
      </span>
      <span className="graph-line">
        {state === null ? <span className="soft">unknown</span> : <StateBadge state={state} />}{' '}
        <code>{shortId(jobId)}</code>
      </span>
    </>
  );
}

function place({ left, top, width, height }: Box): CSSProperties {
  return { position: 'absolute', left, top, width, height };
}

/** The width of an element; 0 until it is known. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!element.current) return undefined;
    const { current } = element;
    const watch = new ResizeObserver(() => setWidth(current.clientWidth));
    watch.observe(current);
    return () => watch.disconnect();
  }, [element]);
  return width;
}
