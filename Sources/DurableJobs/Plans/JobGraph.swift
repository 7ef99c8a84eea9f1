/// Jobs and their dependencies as Mermaid text: https://mermaid.js.org.
struct JobGraph {
  private static let colours: [(JobState, String)] = [
    (.running, "#cce5ff"), (.succeeded, "#d4edda"), (.failed, "#f8d7da"),
  ]
  private var nodes: [String] = []
  private var states: [JobState: [String]] = [:]
  private var arrows: [String] = []
  /// Names of what is not in the graph.
  private var outside = Slots<String>()
  /// Of stored jobs: their places among the nodes.
  var places: [JobID: Int] = [:]

  /// `after`: with nil for a node that is not in the plan.
  mutating func add(_ name: String, _ state: JobState? = nil, after: [(JobEdge.Target?, JobEdge.Condition)]) {
    let me = "n\(nodes.count)"
    let label = Self.escaped(name) + (state.map { "<br/>\($0)" } ?? "")
    nodes.append("\(me)[\"\(label)\"]")
    if let state { states[state, default: []].append(me) }
    for (target, condition) in after {
      let arrow =
        switch condition {
        case .succeeded: "-->"
        case .ended: "-->|ended|"
        case .failed: "-.->|failed|"
        }
      arrows.append("\(id(of: target)) \(arrow) \(me)")
    }
  }

  private mutating func id(of target: JobEdge.Target?) -> String {
    let name: String
    switch target {
    case .sibling(let place): return "n\(place)"
    case .job(let id):
      if let place = places[id] { return "n\(place)" }
      name = "job \(id)"
    case .key(let key): name = "key \(key)"
    case nil: name = "a node of another plan"
    }
    return "o\(outside.number(of: name))"
  }

  var mermaid: String {
    let outside = outside.elements.enumerated().map { "o\($0)([\"\(Self.escaped($1))\"])" }
    let colours = Self.colours.flatMap { state, colour in
      states[state].map { ["classDef \(state) fill:\(colour)", "class \($0.joined(separator: ",")) \(state)"] } ?? []
    }
    return (["flowchart TD"] + (nodes + outside + arrows + colours).map { "  \($0)" }).joined(separator: "\n") + "\n"
  }

  private static func escaped(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 }).replacing("#", with: "#35;").replacing("\"", with: "#quot;")
      .replacing("<", with: "#lt;").replacing(">", with: "#gt;")
  }
}
