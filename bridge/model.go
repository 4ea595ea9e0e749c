package bridge

// Model is a model that the bridge offers.
type Model struct {
	ID          string
	DisplayName string
	Description string
	Parameters  []ModelParameter
	Variants    []ModelVariant
}

// ModelParameter is a setting of a model; see [AgentOptions.ModelParams].
type ModelParameter struct {
	ID          string
	DisplayName string
	Values      []ModelParameterValue
}

// ModelParameterValue is one value that a setting of a model can have.
type ModelParameterValue struct {
	Value       string
	DisplayName string
}

// ModelVariant is a named choice of a model's settings.
type ModelVariant struct {
	DisplayName string
	Description string
	Params      map[string]string
	Default     bool
}
