// A server on the official Go SDK for our client: lists, a tool, two rounds, prompts and resources, with and without a
// question in them.
//
//	server PORT    over HTTP; without it, on the standard streams
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func text(words string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: words}} }

func question(key, message, field string) mcp.InputRequestMap {
	return mcp.InputRequestMap{key: &mcp.ElicitParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}}, "required": []string{field}}}}
}

// The field of an accepted answer, or nothing.
func answer(responses mcp.InputResponseMap, key, field string) string {
	result, ok := responses[key].(*mcp.ElicitResult)
	if !ok || result.Action != "accept" {
		return ""
	}
	value, _ := result.Content[field].(string)
	return value
}

func twoStep(_ context.Context, request *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if second := answer(request.Params.InputResponses, "second", "v"); second != "" {
		return &mcp.CallToolResult{Content: text(request.Params.RequestState + "+" + second)}, nil, nil
	}
	if first := answer(request.Params.InputResponses, "first", "v"); first != "" {
		return &mcp.CallToolResult{InputRequests: question("second", "second?", "v"), RequestState: first}, nil, nil
	}
	return &mcp.CallToolResult{InputRequests: question("first", "first?", "v"), RequestState: "asked"}, nil, nil
}

// The SDK lets a question go without a schema.
func confirm(_ context.Context, request *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if result, ok := request.Params.InputResponses["sure"].(*mcp.ElicitResult); ok {
		return &mcp.CallToolResult{Content: text("confirm:" + result.Action)}, nil, nil
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"sure": &mcp.ElicitParams{Message: "Sure?"}}, RequestState: "asked"}, nil, nil
}

type echoArguments struct {
	Text string `json:"text"`
}

func build() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-fixture", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in echoArguments) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: text("echo:" + in.Text)}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "two_step"}, twoStep)
	mcp.AddTool(server, &mcp.Tool{Name: "confirm"}, confirm)
	said := func(words string) *mcp.GetPromptResult {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: words}}}}
	}
	server.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return said("greet " + request.Params.Arguments["name"]), nil
		})
	server.AddPrompt(&mcp.Prompt{Name: "ask_prompt"}, func(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if name := answer(request.Params.InputResponses, "user_name", "name"); name != "" {
			return said("prompt for " + name), nil
		}
		return &mcp.GetPromptResult{InputRequests: question("user_name", "Name?", "name"), RequestState: "asked"}, nil
	})
	holds := func(uri, words string) *mcp.ReadResourceResult {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, Text: words}}}
	}
	server.AddResource(&mcp.Resource{Name: "static", URI: "test://static"},
		func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return holds(request.Params.URI, "static-text"), nil
		})
	server.AddResource(&mcp.Resource{Name: "ask", URI: "test://ask"},
		func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			if name := answer(request.Params.InputResponses, "user_name", "name"); name != "" {
				return holds(request.Params.URI, "resource for "+name), nil
			}
			return &mcp.ReadResourceResult{InputRequests: question("user_name", "Name?", "name"), RequestState: "asked"}, nil
		})
	return server
}

func main() {
	if len(os.Args) < 2 {
		if err := build().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	stateless := len(os.Args) > 2 && os.Args[2] == "stateless"
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return build() }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], handler))
}
