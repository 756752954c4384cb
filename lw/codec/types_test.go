package codec

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// meta imitates metav1.ObjectMeta: it is embedded with a JSON name, and its methods are promoted to the outer type.
type meta struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	CreationTimestamp *time.Time        `json:"creationTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	ManagedFields     []json.RawMessage `json:"managedFields,omitempty"`
}

func (m *meta) GetNamespace() string       { return m.Namespace }
func (m *meta) GetName() string            { return m.Name }
func (m *meta) GetResourceVersion() string { return m.ResourceVersion }

type typeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// TypeMeta is exported because some decoders ignore unexported embedded types.
type TypeMeta = typeMeta

// thing has fields of all supported types.
type thing struct {
	TypeMeta `json:",inline"`
	meta     `json:"metadata"`
	*Deeper  `json:",inline"`

	Bool    bool    `json:"bool,omitempty"`
	Int     int     `json:"int"`
	Int8    int8    `json:"int8"`
	Int16   int16   `json:"int16"`
	Int32   int32   `json:"int32"`
	Int64   int64   `json:"int64"`
	Uint    uint    `json:"uint"`
	Uint8   uint8   `json:"uint8"`
	Uint16  uint16  `json:"uint16"`
	Uint32  uint32  `json:"uint32"`
	Uint64  uint64  `json:"uint64"`
	Uintptr uintptr `json:"uintptr"`
	Float32 float32 `json:"float32"`
	Float64 float64 `json:"float64"`
	String  string  `json:"string"`
	Named   named   `json:"named"`
	Enum    enum    `json:"enum"`

	Pointer    *int32     `json:"pointer"`
	Pointers   **string   `json:"pointers"`
	Struct     small      `json:"struct"`
	StructPtr  *small     `json:"structPtr"`
	Empty      struct{}   `json:"empty"`
	Slice      []int32    `json:"slice"`
	Slices     [][]string `json:"slices"`
	Structs    []small    `json:"structs"`
	StructPtrs []*small   `json:"structPtrs"`
	Array      [2]int     `json:"array"`
	NoArray    [0]int     `json:"noArray"`
	Bytes      []byte     `json:"bytes"`

	Map        map[string]string           `json:"map"`
	MapBytes   map[string][]byte           `json:"mapBytes"`
	MapStruct  map[string]small            `json:"mapStruct"`
	MapPtr     map[string]*small           `json:"mapPtr"`
	MapInt     map[int16]bool              `json:"mapInt"`
	MapUint    map[uint8]bool              `json:"mapUint"`
	MapText    map[shout]int               `json:"mapText"`
	MapNamed   map[enum]string             `json:"mapNamed"`
	MapNested  map[string]map[string]int64 `json:"mapNested"`
	Any        any                         `json:"any"`
	Anys       []any                       `json:"anys"`
	MapAny     map[string]any              `json:"mapAny"`
	Raw        json.RawMessage             `json:"raw"`
	RawPtr     *json.RawMessage            `json:"rawPtr"`
	Number     json.Number                 `json:"number"`
	Time       time.Time                   `json:"time"`
	TimePtr    *time.Time                  `json:"timePtr"`
	Custom     intOrString                 `json:"custom"`
	CustomPtr  *intOrString                `json:"customPtr"`
	Customs    map[string]intOrString      `json:"customs"`
	Text       shout                       `json:"text"`
	TextPtr    *shout                      `json:"textPtr"`
	Quoted     int64                       `json:"quoted,string"`
	QuotedPtr  *uint16                     `json:"quotedPtr,omitempty,string"`
	QuotedBool bool                        `json:"quotedBool,string"`
	QuotedF    float64                     `json:"quotedF,string"`
	QuotedS    string                      `json:"quotedS,string"`
	//lint:ignore SA5008 the option has no effect here, and that is tested
	QuotedNot []int  `json:"quotedNot,string"`
	Error     error  `json:"error"`
	Func      func() `json:"-"`
	//lint:ignore SA5008 the name is a dash
	Dash     int `json:"-,"`
	Odd      int `json:"a.b/c d"`
	Untagged int
	//lint:ignore U1000 it must stay unread
	hidden int
}

// Deeper is embedded in thing as a pointer.
type Deeper struct {
	Inlined string `json:"inlined"`
	Bool    string `json:"bool"` // hidden by the field Bool of the outer struct
}

type small struct {
	A    int    `json:"a"`
	B    string `json:"b"`
	Next *small `json:"next,omitempty"`
}

type named int32

type enum string

type intOrString struct {
	isString bool
	number   int32
	text     string
}

func (v *intOrString) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		v.isString = true
		return json.Unmarshal(text, &v.text)
	}
	return json.Unmarshal(text, &v.number)
}

func (v intOrString) MarshalJSON() ([]byte, error) {
	if v.isString {
		return json.Marshal(v.text)
	}
	return json.Marshal(v.number)
}

// shout implements encoding.TextUnmarshaler. Its error quotes the input.
type shout struct{ text string }

func (s *shout) UnmarshalText(text []byte) error {
	if strings.Contains(string(text), "quiet") {
		return errors.New("cannot shout " + string(text))
	}
	s.text = strings.ToUpper(string(text))
	return nil
}

func (s shout) MarshalText() ([]byte, error) { return []byte(s.text), nil }
